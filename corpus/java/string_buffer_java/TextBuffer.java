/** Characters that grow and shrink, after java.lang.StringBuffer. */
final class TextBuffer {
    private static final int GROW_ROUNDS = 200;

    private final char[] value = new char[64];
    private int count;

    TextBuffer(String text) {
        append(text);
    }

    synchronized int length() {
        return count; // truth:A1
    }

    synchronized void setLength(int length) {
        count = length; // truth:A2
    }

    synchronized String characters(int length) {
        if (length > count) { // truth:A3
            throw new StringIndexOutOfBoundsException(length);
        }
        return new String(value, 0, length);
    }

    synchronized void append(String text) {
        for (int i = 0; i < text.length(); i++) {
            value[count] = text.charAt(i);
            count++;
        }
    }

    void append(TextBuffer other) {
        if (Server.FIXED) {
            synchronized (other) {
                appendAll(other);
            }
        } else {
            appendAll(other);
        }
    }

    private void appendAll(TextBuffer other) {
        int length = other.length();
        if (makeRoom(length)) {
            append(other.characters(length));
        }
    }

    private static boolean makeRoom(int length) {
        return Work.compute(length, GROW_ROUNDS) != 0;
    }
}

/** A growing array without locks, after java.util.ArrayList. */
final class Items {
    private static final int GROW_ROUNDS = 200;

    private final int[] elements = new int[8];
    private int size;

    int size() {
        return size;
    }

    /** Adds an element at the end. */
    void add(int element) {
        if (Lists.FIXED) {
            synchronized (this) {
                append(element);
            }
        } else {
            append(element);
        }
    }

    private void append(int element) {
        int end = size; // truth:A1
        ensureRoom(end);
        elements[end] = element; // truth:B1
        size = end + 1; // truth:A2
    }

    private void ensureRoom(int end) {
        if (Work.compute(end, GROW_ROUNDS) == 0 || end >= elements.length) {
            throw new IllegalStateException("full");
        }
    }
}

/** Lines that several writers append to. */
final class Buffer {
    private final int[] lines = new int[8];
    private int length;

    synchronized int end() {
        return length; // truth:A1
    }

    synchronized void put(int place, int line) {
        lines[place] = line; // truth:B1
        length = place + 1; // truth:A2
    }
}

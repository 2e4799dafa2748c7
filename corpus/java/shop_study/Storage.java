/** The items of a shop, the last one on top. */
final class Storage {
    private final int[] items;
    private int count;

    Storage(int room) {
        items = new int[room];
    }

    synchronized void putItem(int item) {
        items[count] = item;
        count++;
    }

    synchronized boolean isEmpty() {
        return count == 0; // truth:A1
    }

    synchronized int getItem() {
        int top = count - 1; // truth:A3
        int item = items[top];
        count = top; // truth:A2
        return item;
    }
}

/** What is left of an article. */
final class Stock {
    static final int NO_ITEM = -1;

    private final int[] items = new int[4];
    private int left;

    synchronized boolean isEmpty() {
        return left == 0; // truth:A1
    }

    synchronized int getItem() {
        int before = left; // truth:A3
        if (before == 0) {
            return NO_ITEM;
        }
        left = before - 1; // truth:A2
        return items[before - 1];
    }

    synchronized void putItem(int item) {
        items[left] = item;
        left++;
    }
}

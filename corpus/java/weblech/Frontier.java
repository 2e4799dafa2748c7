/** Pages that a spider has still to visit. */
final class Frontier {
    private final String[] pages;
    private int size;

    Frontier(String... pages) {
        this.pages = pages.clone();
        this.size = pages.length;
    }

    synchronized int size() {
        return size; // truth:A1
    }

    synchronized String take() {
        int last = size - 1; // truth:A3
        if (last < 0) {
            return null;
        }
        size = last; // truth:A2
        return pages[last];
    }
}

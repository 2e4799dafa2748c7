import java.util.ConcurrentModificationException;

/** A set of numbers with an iterator that notices changes, after java.util.HashSet behind a synchronized wrapper. */
final class Bag {
    private static final int VISIT_ROUNDS = 200;

    private final boolean[] members = new boolean[16];
    private int changes;

    synchronized void add(int number) {
        members[number] = true;
        changes++; // truth:A2
    }

    /** Adds all members of another one. */
    void addAll(Bag other) {
        if (Sets.FIXED) {
            synchronized (other) {
                iterate(other);
            }
        } else {
            iterate(other);
        }
    }

    private void iterate(Bag other) {
        int expected = other.begin();
        if (visit(expected)) {
            other.next(expected);
        }
    }

    private synchronized int begin() {
        return changes; // truth:A1
    }

    private synchronized boolean next(int expected) {
        if (changes != expected) { // truth:A3
            throw new ConcurrentModificationException();
        }
        return members[0];
    }

    private static boolean visit(int number) {
        return Work.compute(number, VISIT_ROUNDS) != 0;
    }
}

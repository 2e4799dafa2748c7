/** A growing array, after java.util.Vector: every method is synchronized, using two of them is not. */
final class Sequence {
    private static final int COPY_ROUNDS = 200;

    private int[] elements;
    private int size;

    Sequence(int... elements) {
        this.elements = elements.clone();
        this.size = elements.length;
    }

    /** A copy. */
    Sequence(Sequence other) {
        if (Copies.FIXED) {
            synchronized (other) {
                copy(other);
            }
        } else {
            copy(other);
        }
    }

    private void copy(Sequence other) {
        elements = new int[other.size()];
        if (Work.compute(elements.length, COPY_ROUNDS) != 0) {
            size = other.copyInto(elements);
        }
    }

    synchronized int size() {
        return size; // truth:A1
    }

    /** Gives the number of elements copied. */
    synchronized int copyInto(int[] target) {
        int count = size; // truth:A3
        System.arraycopy(elements, 0, target, 0, Math.min(count, target.length));
        return count;
    }

    synchronized void removeAll() {
        size = 0; // truth:A2
    }

    /** Are there as many elements as there is room for? */
    boolean isWhole() {
        return size == elements.length;
    }
}

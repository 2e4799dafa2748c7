/** A list whose methods hold its lock, after Collections.synchronizedList of JDK 1.4. */
final class SyncList {
    private static final int GROW_ROUNDS = 200;

    private final Object[] elements = new Object[4];
    private int size;

    synchronized void add(Object element) {
        elements[size] = element;
        size++;
    }

    synchronized void removeAll() {
        for (int i = 0; i < size; i++) {
            elements[i] = null;
        }
        size = 0; // truth:A2
    }

    synchronized int size() {
        return size; // truth:A1
    }

    /** As many elements as asked for; null where there are not so many. */
    synchronized Object[] toArray(int count) {
        Object[] copy = new Object[count];
        for (int i = 0; i < size; i++) { // truth:A3
            copy[i] = elements[i];
        }
        return copy;
    }

    /** Adds all elements of another list. */
    synchronized void addAll(SyncList other) {
        if (Collectors.FIXED) {
            synchronized (other) {
                append(other);
            }
        } else {
            append(other);
        }
    }

    private void append(SyncList other) {
        int count = other.size();
        if (makeRoom(count)) {
            for (Object element : other.toArray(count)) {
                add(element);
            }
        }
    }

    private static boolean makeRoom(int count) {
        return Work.compute(count, GROW_ROUNDS) != 0;
    }

    synchronized boolean hasNull() {
        for (int i = 0; i < size; i++) {
            if (elements[i] == null) {
                return true;
            }
        }
        return false;
    }
}

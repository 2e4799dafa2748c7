/** Helper threads that a list may have. */
final class ThreadBudget {
    private static final int PLAN_ROUNDS = 200;

    private int available = 1;

    synchronized boolean isOverdrawn() {
        return available < 0;
    }

    /** Takes a helper, if there is one left. */
    boolean take() {
        if (MergeSort.FIXED) {
            synchronized (this) {
                return hasSome() && isWorthAThread() && useOne();
            }
        }
        return hasSome() && isWorthAThread() && useOne();
    }

    private synchronized boolean hasSome() {
        return available > 0; // truth:A1
    }

    private synchronized boolean useOne() {
        int left = available; // truth:A3
        available = left - 1; // truth:A2
        return true;
    }

    /** Stands for deciding where to split. */
    private static boolean isWorthAThread() {
        return Work.compute(1, PLAN_ROUNDS) != 0;
    }
}

/** Three numbers, which two passes put in order. */
final class Row {
    private static final int COMPARE_ROUNDS = 200;

    private final int[] numbers = {2, 1, 0};

    void passLow() {
        orderPair(0);
    }

    void passHigh() {
        orderPair(1);
    }

    /** Are all numbers still there? */
    boolean isComplete() {
        int seen = 0;
        for (int number : numbers) {
            seen |= 1 << number;
        }
        return seen == 7;
    }

    private void orderPair(int first) {
        if (Sorter.FIXED) {
            synchronized (this) {
                order(first, first + 1);
            }
        } else {
            order(first, first + 1);
        }
    }

    private void order(int low, int high) {
        int left = numbers[low]; // truth:A1
        int right = numbers[high]; // truth:B1
        if (comesAfter(left, right)) {
            numbers[low] = right; // truth:A2
            numbers[high] = left; // truth:B2
        }
    }

    /** Numbers are keys of records; comparing the records takes a while. */
    private static boolean comesAfter(int a, int b) {
        return Work.compute(a ^ b, COMPARE_ROUNDS) != 0 && a > b;
    }
}

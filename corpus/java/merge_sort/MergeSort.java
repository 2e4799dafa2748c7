import java.util.Arrays;

/**
 * Two sorters share a batch of lists: of each list one of them sorts the lower half and the other the upper half. They
 * walk the batch in opposite directions, and each list may have one helper. A sorter asks whether there is one left, and
 * later takes it. When both ask before either takes, there are more helpers than allowed.
 */
public final class MergeSort {
    static final boolean FIXED = Boolean.getBoolean("fixed");
    private static final int LISTS = 20;
    private static final int NUMBERS = 8;

    private static final class Numbers {
        private final int[] numbers = new int[NUMBERS];
        private final ThreadBudget helpers = new ThreadBudget();

        Numbers(int seed) {
            for (int i = 0; i < NUMBERS; i++) {
                numbers[i] = Work.compute(seed + i, 8);
            }
        }

        void sortHalf(int first, int end) {
            int middle = (first + end) / 2;
            if (helpers.take()) {
                // The helper's share, done in its name.
                Arrays.sort(numbers, middle, end);
            }
            Arrays.sort(numbers, first, end);
        }

        boolean isFine() {
            return !helpers.isOverdrawn();
        }
    }

    private final Numbers[] lists = new Numbers[LISTS];

    private MergeSort() {
        Arrays.setAll(lists, i -> new Numbers(i * NUMBERS));
    }

    public static void main(String[] arguments) throws InterruptedException {
        MergeSort sort = new MergeSort();
        new Crossing(LISTS).walk(
                list -> sort.lists[list].sortHalf(0, NUMBERS / 2),
                list -> sort.lists[list].sortHalf(NUMBERS / 2, NUMBERS));
        for (Numbers list : sort.lists) {
            if (!list.isFine()) {
                System.err.println("there were too many helpers");
                System.exit(1);
            }
        }
    }
}

import java.util.Arrays;

/**
 * Two threads add an element to each of many lists that were made for one thread, walking in opposite directions. Where
 * they meet, both put their element at the same place, and one is lost.
 */
public final class Lists {
    static final boolean FIXED = Boolean.getBoolean("fixed");
    private static final int LISTS = 24;

    private final Items[] lists = new Items[LISTS];

    private Lists() {
        Arrays.setAll(lists, i -> new Items());
    }

    private void addEven(int list) {
        lists[list].add(2 * list);
    }

    private void addOdd(int list) {
        lists[list].add(2 * list + 1);
    }

    private int elements() {
        int sum = 0;
        for (Items list : lists) {
            sum += list.size();
        }
        return sum;
    }

    public static void main(String[] arguments) throws InterruptedException {
        Lists program = new Lists();
        new Crossing(LISTS).walk(program::addEven, program::addOdd);
        if (program.elements() != 2 * LISTS) {
            System.err.println("elements were lost");
            System.exit(1);
        }
    }
}

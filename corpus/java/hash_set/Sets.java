import java.util.Arrays;

/**
 * One thread adds the members of many sets to its own while another one adds a member to each of them. Each method holds
 * the set's lock, but an iteration is many calls, and ends with an exception when the set is changed between two of them.
 */
public final class Sets {
    static final boolean FIXED = Boolean.getBoolean("fixed");
    private static final int SETS = 24;

    private final Bag[] sets = new Bag[SETS];
    private final Bag union = new Bag();

    private Sets() {
        Arrays.setAll(sets, i -> new Bag());
    }

    private void change(int number) {
        sets[number].add(number % 16);
    }

    private void collect(int number) {
        union.addAll(sets[number]);
    }

    public static void main(String[] arguments) throws InterruptedException {
        Sets program = new Sets();
        // An exception that ends the collector fails the run.
        new Crossing(SETS).walk(program::change, program::collect);
    }
}

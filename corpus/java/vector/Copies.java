import java.util.Arrays;

/**
 * One thread copies sequences while another one empties them. The copy asks for the size, makes as much room, and then
 * fetches the elements; of a sequence that is emptied in between, there are fewer.
 */
public final class Copies {
    static final boolean FIXED = Boolean.getBoolean("fixed");
    private static final int SEQUENCES = 24;

    private final Sequence[] sequences = new Sequence[SEQUENCES];
    private int torn;

    private Copies() {
        Arrays.setAll(sequences, i -> new Sequence(i, i + 1, i + 2));
    }

    private void empty(int number) {
        sequences[number].removeAll();
    }

    private void copy(int number) {
        Sequence copy = new Sequence(sequences[number]);
        torn += copy.isWhole() ? 0 : 1;
    }

    public static void main(String[] arguments) throws InterruptedException {
        Copies copies = new Copies();
        new Crossing(SEQUENCES).walk(copies::empty, copies::copy);
        if (copies.torn > 0) {
            System.err.println("a copy is torn");
            System.exit(1);
        }
    }
}

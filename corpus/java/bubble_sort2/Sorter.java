/**
 * Two threads sort the rows of a matrix: one makes the low pass over all rows, from the first to the last, the other the
 * high pass, from the last to the first. A pass reads two neighbours and writes them back in order. Where the threads
 * are at the same row, one writes back a middle number that the other has moved on, and so a number is lost.
 */
public final class Sorter {
    static final boolean FIXED = Boolean.getBoolean("fixed");
    private static final int ROWS = 24;

    private final Row[] rows = new Row[ROWS];

    private Sorter() {
        for (int i = 0; i < ROWS; i++) {
            rows[i] = new Row();
        }
    }

    private boolean isComplete() {
        for (Row row : rows) {
            if (!row.isComplete()) {
                return false;
            }
        }
        return true;
    }

    public static void main(String[] arguments) throws InterruptedException {
        Sorter sorter = new Sorter();
        new Crossing(ROWS).walk(row -> sorter.rows[row].passLow(), row -> sorter.rows[row].passHigh());
        if (!sorter.isComplete()) {
            System.err.println("rows have lost numbers");
            System.exit(1);
        }
    }
}

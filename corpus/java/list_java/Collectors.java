import java.util.Arrays;

/**
 * Many pairs of synchronized lists. One thread adds all elements of the second list of each pair to the first, while
 * another one empties the second lists, in the opposite direction. Adding all asks the other list for its size and then
 * for its elements; a list that is emptied in between leaves null elements behind.
 */
public final class Collectors {
    static final boolean FIXED = Boolean.getBoolean("fixed");
    private static final int PAIRS = 24;

    private final SyncList[] targets = new SyncList[PAIRS];
    private final SyncList[] sources = new SyncList[PAIRS];

    private Collectors() {
        Arrays.setAll(targets, pair -> new SyncList());
        Arrays.setAll(sources, pair -> new SyncList());
        for (int pair = 0; pair < PAIRS; pair++) {
            sources[pair].add("item " + pair);
        }
    }

    private void collect(int pair) {
        targets[pair].addAll(sources[pair]);
    }

    private void empty(int pair) {
        sources[pair].removeAll();
    }

    private boolean hasNull() {
        for (SyncList target : targets) {
            if (target.hasNull()) {
                return true;
            }
        }
        return false;
    }

    public static void main(String[] arguments) throws InterruptedException {
        Collectors collectors = new Collectors();
        new Crossing(PAIRS).walk(collectors::collect, collectors::empty);
        if (collectors.hasNull()) {
            System.err.println("a list has a null element");
            System.exit(1);
        }
    }
}

import java.util.Arrays;

/**
 * Two threads add a key to each of many trees, walking in opposite directions. Where both find a tree empty, both make
 * their node its root, and one key is lost.
 */
public final class Forest {
    static final boolean FIXED = Boolean.getBoolean("fixed");
    private static final int TREES = 24;

    private final Tree[] trees = new Tree[TREES];

    private Forest() {
        Arrays.setAll(trees, i -> new Tree());
    }

    private void addSmall(int tree) {
        trees[tree].add(1);
    }

    private void addLarge(int tree) {
        trees[tree].add(2);
    }

    private int keys() {
        int sum = 0;
        for (Tree tree : trees) {
            sum += tree.size();
        }
        return sum;
    }

    public static void main(String[] arguments) throws InterruptedException {
        Forest forest = new Forest();
        new Crossing(TREES).walk(forest::addSmall, forest::addLarge);
        if (forest.keys() != 2 * TREES) {
            System.err.println("keys were lost");
            System.exit(1);
        }
    }
}

/**
 * A cache with a cleaner thread of its own. The cache starts the cleaner and then tells it how often to clean; a cleaner
 * that comes first finds no interval and never sleeps.
 */
public final class Cache {
    static final boolean FIXED = Boolean.getBoolean("fixed");
    private static final int ENTRIES = 24;
    private static final int INTERVAL = 50;
    private static final int STORE_ROUNDS = 200;

    private final int[] entries = new int[ENTRIES];
    private final Cleaner cleaner = new Cleaner(this);
    private int stored;

    private synchronized void store(int entry) {
        entries[stored] = entry;
        stored++;
        notifyAll();
    }

    synchronized void waitForEntries() {
        while (stored < ENTRIES / 2) {
            try {
                wait();
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    private void open() {
        if (FIXED) {
            cleaner.setInterval(INTERVAL);
        }
        cleaner.start();
        for (int i = 0; i < ENTRIES; i++) {
            Background.step(i);
            store(Work.compute(i, STORE_ROUNDS));
            if (i == ENTRIES / 2 - 1 && !FIXED) {
                cleaner.setInterval(INTERVAL);
            }
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        Cache cache = new Cache();
        cache.open();
        cache.cleaner.join();
        if (!cache.cleaner.cleanedInTime()) {
            System.err.println("the cleaner found no interval");
            System.exit(1);
        }
    }
}

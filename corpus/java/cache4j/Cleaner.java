/** A thread that throws old entries out of a cache. */
final class Cleaner extends Thread {
    private static final int LOOK_ROUNDS = 30_000;

    private final Cache cache;
    private int interval;
    private int seenInterval = -1;

    Cleaner(Cache cache) {
        super("cleaner");
        this.cache = cache;
    }

    void setInterval(int interval) {
        this.interval = interval; // truth:A1
    }

    boolean cleanedInTime() {
        return seenInterval > 0;
    }

    @Override
    public void run() {
        cache.waitForEntries();
        clean();
    }

    private void clean() {
        if (Work.compute(1, LOOK_ROUNDS) != 0) {
            seenInterval = readInterval();
        }
    }

    private int readInterval() {
        return interval; // truth:A2
    }
}

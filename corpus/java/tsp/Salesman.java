import java.util.concurrent.atomic.AtomicInteger;

/** Searches for the shortest tour on several threads, which read the best length so far without a lock on purpose. */
public final class Salesman {
    private static final int CITIES = 7;
    private static final int[][] DISTANCES = new int[CITIES][CITIES];

    private static volatile int best = Integer.MAX_VALUE;
    private static final AtomicInteger NEXT_START = new AtomicInteger(1);
    private static final Object LOCK = new Object();

    private Salesman() {
    }

    private static void search(boolean[] visited, int city, int length, int depth) {
        if (length >= best) {
            return;
        }
        if (depth == CITIES) {
            offer(length + DISTANCES[city][0]);
            return;
        }
        for (int next = 1; next < CITIES; next++) {
            if (!visited[next]) {
                visited[next] = true;
                search(visited, next, length + DISTANCES[city][next], depth + 1);
                visited[next] = false;
            }
        }
    }

    private static void offer(int length) {
        synchronized (LOCK) {
            if (length < best) {
                best = length;
            }
        }
    }

    private static void work() {
        int start;
        while ((start = NEXT_START.getAndIncrement()) < CITIES) {
            boolean[] visited = new boolean[CITIES];
            visited[start] = true;
            search(visited, start, DISTANCES[0][start], 2);
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        for (int a = 0; a < CITIES; a++) {
            for (int b = 0; b < a; b++) {
                DISTANCES[a][b] = DISTANCES[b][a] = 10 + (Work.compute(a * CITIES + b, 20) & 63);
            }
        }
        Thread[] threads = new Thread[Integer.getInteger("threads", 2)];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(Salesman::work, "salesman " + i);
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        int parallel = best;
        best = Integer.MAX_VALUE;
        boolean[] visited = new boolean[CITIES];
        search(visited, 0, 0, 1);
        boolean isFlaky = Boolean.getBoolean("flaky") && System.nanoTime() % 20 == 0;
        System.exit(parallel == best && !isFlaky ? 0 : 1);
    }
}

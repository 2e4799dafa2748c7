/** Philosophers who take the lower fork first, and so never starve. */
public final class Philosophers {
    private static final int SEATS = Integer.getInteger("threads", 4);
    private static final int MEALS = 6;

    private final Object[] forks = new Object[SEATS];
    private final int[] meals = new int[SEATS];
    private int eaten;

    private Philosophers() {
        for (int i = 0; i < SEATS; i++) {
            forks[i] = new Object();
        }
    }

    private void live(int seat) {
        int left = Math.min(seat, (seat + 1) % SEATS);
        int right = Math.max(seat, (seat + 1) % SEATS);
        for (int meal = 0; meal < MEALS; meal++) {
            synchronized (forks[left]) {
                synchronized (forks[right]) {
                    eat(seat);
                }
            }
            Background.step(seat + meal);
        }
    }

    private void eat(int seat) {
        meals[seat] += Work.compute(seat, 100) != 0 ? 1 : 0;
        synchronized (this) {
            eaten++;
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        Philosophers table = new Philosophers();
        Thread[] threads = new Thread[SEATS];
        for (int i = 0; i < SEATS; i++) {
            int seat = i;
            threads[i] = new Thread(() -> table.live(seat), "philosopher " + i);
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        boolean isFlaky = Boolean.getBoolean("flaky") && System.nanoTime() % 20 == 0;
        System.exit(table.eaten == SEATS * MEALS && !isFlaky ? 0 : 1);
    }
}

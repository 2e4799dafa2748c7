import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.function.IntConsumer;

/** Two threads that walk over the same numbers in opposite directions, so that they meet once. */
final class Crossing {
    private static final int ROUNDS_PER_STEP = 400;

    private final CyclicBarrier start = new CyclicBarrier(2);
    private final int length;

    Crossing(int length) {
        this.length = length;
    }

    /** Lets one thread walk upwards and the other downwards, and waits for both. */
    void walk(IntConsumer up, IntConsumer down) throws InterruptedException {
        Thread rises = new Thread(() -> {
            await();
            for (int i = 0; i < length; i++) {
                step(i, up);
            }
        }, "up");
        Thread falls = new Thread(() -> {
            await();
            for (int i = length - 1; i >= 0; i--) {
                step(i, down);
            }
        }, "down");
        rises.start();
        falls.start();
        rises.join();
        falls.join();
    }

    private static void step(int number, IntConsumer visit) {
        Background.step(number);
        if (Work.compute(number, ROUNDS_PER_STEP) != 0) {
            visit.accept(number);
        }
    }

    private void await() {
        try {
            start.await();
        } catch (InterruptedException | BrokenBarrierException e) {
            throw new IllegalStateException(e);
        }
    }
}

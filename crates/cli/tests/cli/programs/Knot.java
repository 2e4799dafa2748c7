import java.util.concurrent.locks.ReentrantLock;

/** Two threads that take two locks in opposite orders: monitors, or with an argument those of the library. */
public class Knot {
    private final Object left = new Object();
    private final Object right = new Object();
    private final ReentrantLock first = new ReentrantLock();
    private final ReentrantLock second = new ReentrantLock();
    private int count;

    private void nested(Object outer, Object inner) {
        synchronized (outer) {
            synchronized (inner) { // inner
                count++;
            }
        }
    }

    private void nested(ReentrantLock outer, ReentrantLock inner) {
        outer.lock();
        inner.lock(); // inner lock
        count++;
        inner.unlock();
        outer.unlock();
    }

    public static void main(String[] arguments) throws InterruptedException {
        Knot knot = new Knot();
        boolean monitors = arguments.length == 0;
        Thread other = new Thread(() -> {
            if (monitors) {
                knot.nested(knot.right, knot.left);
            } else {
                knot.nested(knot.second, knot.first);
            }
        }, "other");
        other.start();
        if (monitors) {
            knot.nested(knot.left, knot.right);
        } else {
            knot.nested(knot.first, knot.second);
        }
        other.join();
    }
}

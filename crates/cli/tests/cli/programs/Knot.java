import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * Two threads that take two locks in opposite orders: monitors, or with an argument those of the library, or a monitor and one
 * that can be read and written.
 */
public class Knot {
    private final Object left = new Object();
    private final Object right = new Object();
    private final ReentrantLock first = new ReentrantLock();
    private final ReentrantLock second = new ReentrantLock();
    private final ReentrantReadWriteLock shared = new ReentrantReadWriteLock();
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

    private void reads() {
        shared.readLock().lock();
        synchronized (right) {
            count++;
        }
        shared.readLock().unlock();
    }

    private void writes() {
        synchronized (right) {
            shared.writeLock().lock();
            count++;
            shared.writeLock().unlock();
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        Knot knot = new Knot();
        String locks = arguments.length == 0 ? "monitors" : arguments[0];
        Thread other = new Thread(() -> {
            if (locks.equals("monitors")) {
                knot.nested(knot.right, knot.left);
            } else if (locks.equals("shared")) {
                knot.writes();
            } else {
                knot.nested(knot.second, knot.first);
            }
        }, "other");
        other.start();
        if (locks.equals("monitors")) {
            knot.nested(knot.left, knot.right);
        } else if (locks.equals("shared")) {
            knot.reads();
        } else {
            knot.nested(knot.first, knot.second);
        }
        other.join();
    }
}

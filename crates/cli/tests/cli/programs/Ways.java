import java.util.ArrayDeque;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.concurrent.locks.StampedLock;

/** Every way in which threads wait for one another. What it prints does not depend on the schedule. */
public class Ways {
    private static final int WORKERS = 3;
    private static final int ROUNDS = 4;

    private final ArrayDeque<Integer> mailbox = new ArrayDeque<>();
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition filled = lock.newCondition();
    private final ReentrantReadWriteLock table = new ReentrantReadWriteLock();
    private final StampedLock stamps = new StampedLock();
    private final Semaphore items = new Semaphore(0);
    private final CountDownLatch done = new CountDownLatch(WORKERS);
    private final CyclicBarrier barrier = new CyclicBarrier(WORKERS);
    private final ArrayBlockingQueue<Integer> queue = new ArrayBlockingQueue<>(2);
    private final AtomicInteger atomic = new AtomicInteger();
    private int guarded;
    private int locked;
    private int tabled;
    private int stamped;
    private volatile boolean ready;
    private volatile boolean parkedMayGo;

    private synchronized void bump() {
        guarded++;
    }

    private void work() {
        try {
            barrier.await();
            for (int round = 0; round < ROUNDS; round++) {
                bump();
                synchronized (mailbox) {
                    mailbox.add(round);
                    mailbox.notify();
                }
                lock.lock();
                locked++;
                filled.signal();
                lock.unlock();
                table.writeLock().lock();
                tabled++;
                table.writeLock().unlock();
                table.readLock().lock();
                atomic.addAndGet(tabled > 0 ? 1 : 0);
                table.readLock().unlock();
                long stamp = stamps.writeLock();
                stamped++;
                stamps.unlockWrite(stamp);
                items.release();
                queue.put(round);
            }
        } catch (InterruptedException | java.util.concurrent.BrokenBarrierException e) {
            throw new IllegalStateException(e);
        }
        done.countDown();
    }

    private int collect() throws InterruptedException {
        int letters = 0;
        while (letters < WORKERS * ROUNDS) {
            synchronized (mailbox) {
                while (mailbox.isEmpty()) {
                    mailbox.wait();
                }
                mailbox.remove();
                letters++;
            }
            items.acquire();
            queue.take();
        }
        lock.lock();
        while (locked < WORKERS * ROUNDS) {
            filled.await();
        }
        lock.unlock();
        done.await();
        return letters;
    }

    public static void main(String[] arguments) throws Exception {
        Ways ways = new Ways();
        Thread[] workers = new Thread[WORKERS];
        for (int i = 0; i < WORKERS; i++) {
            workers[i] = new Thread(ways::work, "worker " + i);
            workers[i].start();
        }
        Thread parked = new Thread(() -> {
            while (!ways.parkedMayGo) {
                LockSupport.park(ways);
            }
            ways.ready = true;
        }, "parked");
        parked.start();
        int letters = ways.collect();
        ways.parkedMayGo = true;
        LockSupport.unpark(parked);
        while (!ways.ready) {
            Thread.sleep(1);
        }
        parked.join();
        for (Thread worker : workers) {
            worker.join();
        }
        ExecutorService pool = Executors.newFixedThreadPool(2);
        Future<Integer> half = pool.submit(() -> ways.atomic.incrementAndGet());
        Future<Integer> other = pool.submit(() -> ways.atomic.incrementAndGet());
        int sum = half.get() + other.get();
        int later = CompletableFuture.supplyAsync(() -> sum + 1, pool).thenApply(x -> x + 1).get();
        pool.shutdown();
        System.out.println(letters + " " + ways.guarded + " " + ways.locked + " " + ways.tabled + " "
                + ways.stamped + " " + later);
    }
}

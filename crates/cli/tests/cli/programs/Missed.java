/** A signal that may come before the wait for it. */
public class Missed {
    private final Object ready = new Object();
    private int work;

    private void produce() {
        work++;
        synchronized (ready) {
            ready.notifyAll();
        }
    }

    private void consume() throws InterruptedException {
        synchronized (ready) {
            ready.wait();
        }
        work++;
    }

    public static void main(String[] arguments) throws InterruptedException {
        Missed missed = new Missed();
        Thread producer = new Thread(missed::produce, "producer");
        producer.start();
        missed.consume();
        producer.join();
    }
}

/** A transfer holds the lock of the account that pays, not of the one that receives. */
final class Transfer {
    private int balance = 100;

    synchronized void deposit(int amount) {
        int before = balance;
        balance = before + amount;
    }

    synchronized void moveTo(Transfer other, int amount) {
        balance -= amount;
        other.receive(amount);
    }

    private void receive(int amount) {
        int before = balance; // first
        balance = before + amount; // last
    }

    public static void main(String[] arguments) throws InterruptedException {
        Transfer savings = new Transfer();
        Transfer wallet = new Transfer();
        Thread saver = new Thread(() -> savings.deposit(1));
        Thread mover = new Thread(() -> wallet.moveTo(savings, 10));
        saver.start();
        mover.start();
        saver.join();
        mover.join();
        System.exit(savings.balance == 111 && wallet.balance == 90 ? 0 : 1);
    }
}

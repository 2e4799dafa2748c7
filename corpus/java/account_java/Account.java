/** An account with a lock of its own. */
final class Account {
    private static final int RECEIPT_ROUNDS = 200;

    private long balance;
    private int lastReceipt;

    Account(long balance) {
        this.balance = balance;
    }

    long balance() {
        return balance;
    }

    /** Moves money to another account. */
    void transfer(Account to, long amount) {
        if (Bank.FIXED) {
            transferSafely(to, amount);
            return;
        }
        synchronized (this) {
            lastReceipt = post(-amount);
            to.post(amount);
        }
    }

    /** All transfers that touch two accounts hold the bank's lock first, so that opposite ones cannot deadlock. */
    private void transferSafely(Account to, long amount) {
        synchronized (Bank.class) {
            lastReceipt = post(-amount);
            to.post(amount);
        }
    }

    private int post(long amount) {
        long before = balance; // truth:A1
        int receipt = printReceipt(before, amount);
        balance = before + amount; // truth:A2
        return receipt;
    }

    private static int printReceipt(long balance, long amount) {
        return Work.compute((int) (balance ^ amount), RECEIPT_ROUNDS);
    }
}

package shop;

import java.util.concurrent.locks.ReentrantLock;

/** Two tellers book on the same accounts without a common lock. */
public class Bank {
    static class Account {
        private int balance;

        Account(int balance) {
            this.balance = balance;
        }

        int balance() {
            return balance;
        }

        void book(int amount) {
            int before = balance; // read
            balance = before + amount; // write
        }
    }

    private final Account[] accounts = new Account[12];
    private final ReentrantLock[] locks = {new ReentrantLock(), new ReentrantLock()};
    private final int[] bookings = new int[2];

    Bank() {
        for (int i = 0; i < accounts.length; i++) {
            accounts[i] = new Account(100);
        }
    }

    void teller(int id) {
        ReentrantLock own = locks[id];
        own.lock();
        try {
            for (Account account : accounts) {
                account.book(10);
                bookings[id]++;
            }
        } finally {
            own.unlock();
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        Bank bank = new Bank();
        Thread[] tellers = new Thread[2];
        for (int id = 0; id < 2; id++) {
            int own = id;
            tellers[id] = new Thread(() -> bank.teller(own), "teller " + id);
        }
        for (Thread teller : tellers) {
            teller.start();
        }
        for (Thread teller : tellers) {
            teller.join();
        }
        int sum = 0;
        for (Account account : bank.accounts) {
            sum += account.balance();
        }
        int balance = sum;
        if (arguments.length > 0) {
            Thread complains = new Thread(() -> {
                throw new IllegalStateException("asked for");
            });
            complains.start();
            complains.join();
        } else if (balance != 1440) {
            System.exit(1);
        }
    }
}

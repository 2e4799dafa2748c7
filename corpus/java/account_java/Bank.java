import java.util.Arrays;

/**
 * Two tellers work on the same customers: one pays wages out of a payroll account, from the first customer to the last;
 * the other collects fees, from the last to the first. A transfer locks the account that pays but not the one that
 * receives, so where the tellers meet, one of the two updates of a balance can be lost.
 */
public final class Bank {
    static final boolean FIXED = Boolean.getBoolean("fixed");
    private static final int CUSTOMERS = 24;
    private static final long OPENING_BALANCE = 1000;
    private static final long WAGE = 70;
    private static final long FEE = 11;

    private final Account[] customers = new Account[CUSTOMERS];
    private final Account payroll = new Account(OPENING_BALANCE * CUSTOMERS);
    private final Account fees = new Account(0);

    private Bank() {
        for (int i = 0; i < CUSTOMERS; i++) {
            customers[i] = new Account(OPENING_BALANCE);
        }
    }

    private long money() {
        return payroll.balance() + fees.balance() + Arrays.stream(customers).mapToLong(Account::balance).sum();
    }

    private void payWage(int customer) {
        payroll.transfer(customers[customer], WAGE);
    }

    private void collectFee(int customer) {
        customers[customer].transfer(fees, FEE);
    }

    public static void main(String[] arguments) throws InterruptedException {
        Bank bank = new Bank();
        long before = bank.money();
        new Crossing(CUSTOMERS).walk(bank::payWage, bank::collectFee);
        long after = bank.money();
        if (after != before) {
            System.err.println("the bank has lost or won money");
            System.exit(1);
        }
    }
}

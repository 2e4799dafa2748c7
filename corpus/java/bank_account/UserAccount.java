/** An account whose methods hold its lock. */
final class UserAccount {
    private static final int STATEMENT_ROUNDS = 200;

    private int amount;
    private int lastStatement;

    UserAccount(int amount) {
        this.amount = amount;
    }

    synchronized int amount() {
        return amount;
    }

    synchronized void deposit(int money) {
        int before = amount; // truth:B1
        lastStatement = statement(before);
        amount = before + money; // truth:B2
    }

    /** Moves money to another account. */
    synchronized void transfer(UserAccount to, int money) {
        amount -= money;
        if (AccountUsers.FIXED) {
            to.deposit(money);
        } else {
            to.receive(money);
        }
    }

    private void receive(int money) {
        int before = amount; // truth:A1
        int number = statement(before);
        amount = before + money; // truth:A2
        lastStatement = number;
    }

    private static int statement(int amount) {
        return Work.compute(amount, STATEMENT_ROUNDS);
    }
}

import java.nio.file.Files;
import java.nio.file.Path;
import jdk.internal.org.objectweb.asm.ClassWriter;
import jdk.internal.org.objectweb.asm.ConstantDynamic;
import jdk.internal.org.objectweb.asm.Handle;
import jdk.internal.org.objectweb.asm.MethodVisitor;
import jdk.internal.org.objectweb.asm.Opcodes;

/** Writes a class whose constants are computed when they are first used, which no Java source says. */
public class MakeConstants implements Opcodes {
    private static ConstantDynamic constant(String type) {
        String descriptor = "(Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;Ljava/lang/Class;)Ljava/lang/Object;";
        return new ConstantDynamic("constant", type, new Handle(H_INVOKESTATIC, "Constants", "compute", descriptor, false));
    }

    public static void main(String[] arguments) throws Exception {
        ClassWriter made = new ClassWriter(0);
        made.visit(V11, ACC_PUBLIC, "Made", null, "java/lang/Object", null);
        made.visitField(ACC_STATIC, "total", "J", null, null);
        MethodVisitor add = made.visitMethod(ACC_STATIC, "add", "()J", null, null);
        add.visitCode();
        add.visitFieldInsn(GETSTATIC, "Made", "total", "J");
        add.visitLdcInsn(constant("I"));
        add.visitInsn(I2L);
        add.visitInsn(LADD);
        add.visitLdcInsn(constant("J"));
        add.visitInsn(LADD);
        add.visitInsn(DUP2);
        add.visitFieldInsn(PUTSTATIC, "Made", "total", "J");
        add.visitInsn(LRETURN);
        add.visitMaxs(4, 0);
        add.visitEnd();
        made.visitEnd();
        Files.write(Path.of(arguments[0]), made.toByteArray());
    }
}

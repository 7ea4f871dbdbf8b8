//! What an x86-64 CPU and its operating system offer, asked once a call: CPUID is cheap and start-up rare.

/// AVX2 with what every CPU since Haswell has beside it: FMA, F16C, BMI, LZCNT, MOVBE, POPCNT.
pub fn hasAvx2() bool {
    if (cpuid(0, 0).a < 7 or cpuid(0x8000_0000, 0).a < 0x8000_0001) return false;
    const basic = cpuid(1, 0);
    // FMA, MOVBE, POPCNT, OSXSAVE, AVX, F16C.
    if (!hasBits(basic.c, &.{ 12, 22, 23, 27, 28, 29 })) return false;
    if (xgetbv() & 0x6 != 0x6) return false;
    // BMI1, AVX2, BMI2; LZCNT.
    return hasBits(cpuid(7, 0).b, &.{ 3, 5, 8 }) and hasBits(cpuid(0x8000_0001, 0).c, &.{5});
}

/// AVX-512 F, DQ, CD, BW, VL and VNNI.
pub fn hasAvx512Vnni() bool {
    if (!hasAvx2() or xgetbv() & 0xe6 != 0xe6) return false;
    const extended = cpuid(7, 0);
    return hasBits(extended.b, &.{ 16, 17, 28, 30, 31 }) and hasBits(extended.c, &.{11});
}

fn hasBits(word: u32, comptime bits: []const u5) bool {
    comptime var mask: u32 = 0;
    inline for (bits) |bit| mask |= @as(u32, 1) << bit;
    return word & mask == mask;
}

const Registers = struct { a: u32, b: u32, c: u32, d: u32 };

fn cpuid(leaf: u32, subleaf: u32) Registers {
    var a: u32 = undefined;
    var b: u32 = undefined;
    var c: u32 = undefined;
    var d: u32 = undefined;
    asm volatile ("cpuid"
        : [a] "={eax}" (a),
          [b] "={ebx}" (b),
          [c] "={ecx}" (c),
          [d] "={edx}" (d),
        : [leaf] "{eax}" (leaf),
          [subleaf] "{ecx}" (subleaf),
    );
    return .{ .a = a, .b = b, .c = c, .d = d };
}

/// The low half of XCR0: which registers the operating system saves.
fn xgetbv() u32 {
    return asm volatile ("xgetbv"
        : [low] "={eax}" (-> u32),
        : [index] "{ecx}" (@as(u32, 0)),
        : .{ .edx = true });
}

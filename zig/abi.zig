export fn tenon_probe() u32 {
    return 1;
}
export fn tenon_probe2() u32 {
    return 2;
}

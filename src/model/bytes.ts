/** Bytes in the units of powers of two. MB and GB are 10⁶ and 10⁹ bytes: no constant of that name is one of these. */
export const KIB = 1024;
export const MIB = 2 ** 20;
export const GIB = 2 ** 30;

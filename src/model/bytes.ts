/** Bytes in binary units. MB and GB are 10⁶ and 10⁹ bytes, so no constant here has these names. */
export const KIB = 1024;
export const MIB = 2 ** 20;
export const GIB = 2 ** 30;

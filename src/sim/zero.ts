/**
 * 0 as a double. V8 gives a field that begins with the integer 0 another representation when the first fraction is stored in it, and
 * discards what it had compiled for objects of that class.
 */
export const ZERO = -0;

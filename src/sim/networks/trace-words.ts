/** What an operation of a trace is. */
export const COMPUTE = 0;
export const SEND = 1;
export const RECV = 2;

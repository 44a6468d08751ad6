/** Lets other work of this thread have its turn, and Node free what it keeps until then: reading a file is synchronous. */
export const breath = () => new Promise<void>((resolve) => setImmediate(resolve));

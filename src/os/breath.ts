/** Lets others have their turn, and Node free what waits for one: a file is read at once. */
export const breath = () => new Promise<void>((resolve) => setImmediate(resolve));

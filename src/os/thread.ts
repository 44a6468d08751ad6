/** Two kinds of threads: one does a task and ends, the other answers requests. Both halves of each are here. */
import { parentPort, Worker, type WorkerOptions, workerData } from 'node:worker_threads';

/** An error on its way between threads: structured cloning would lose its name and fields. */
type Failure = Readonly<Record<string, unknown>>;

type FromThread<Said, Result> =
  | { readonly said: Said }
  | { readonly result: Result }
  | { readonly failure: Failure };

const isPlain = (value: unknown): boolean =>
  value === null || ['string', 'number', 'boolean'].includes(typeof value);

function failureOf(error: unknown): Failure {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error) };
  const more = Object.entries(error).filter(([, value]) => [value].flat().every(isPlain));
  const { name, message, stack, cause } = error;
  return {
    ...Object.fromEntries(more),
    ...{ name, message, stack },
    ...(cause !== undefined && { cause: failureOf(cause) }),
  };
}

function errorFrom({ cause, ...failure }: Failure): Error {
  const error = Object.assign(new Error(), failure);
  return cause === undefined ? error : Object.assign(error, { cause: errorFrom(cause as Failure) });
}

/** The thread has ended without saying why. */
const gone = (code: number) => new Error(`its thread ended with code ${code}`);

export interface StartedThread<Result> {
  readonly worker: Worker;
  /** The task's result. Rejects with what the thread threw (name, stack, plain fields), or if it ends without a result. */
  readonly done: Promise<Result>;
}

/**
 * Starts a thread that does one task: `script` calls `doTask`.
 * @param hear gets the messages that the thread sends meanwhile
 */
export function startThread<Said, Result>(
  script: URL,
  options: WorkerOptions,
  hear: (said: Said) => void = () => {},
): StartedThread<Result> {
  const worker = new Worker(script, options);
  const done = new Promise<Result>((resolve, reject) => {
    worker.on('message', (message: FromThread<Said, Result>) => {
      if ('said' in message) hear(message.said);
      else if ('result' in message) resolve(message.result);
      else reject(errorFrom(message.failure));
    });
    worker.on('error', reject);
    worker.on('exit', (code) => reject(gone(code)));
  });
  // The caller gets the rejection when it awaits; until then it must not count as unhandled.
  done.catch(() => {});
  return { worker, done };
}

/** The thread's half of `startThread`. */
export async function doTask<Task, Said, Result>(
  work: (task: Task, say: (said: Said) => void) => Result | Promise<Result>,
): Promise<void> {
  const post = (message: FromThread<Said, Result>) => parentPort?.postMessage(message);
  try {
    post({ result: await work(workerData as Task, (said) => post({ said })) });
  } catch (error) {
    post({ failure: failureOf(error) });
  }
}

type Answer<Reply> = { readonly reply: Reply } | { readonly failure: Failure };

/** A thread that answers requests one after the other: its script calls `answerAll`. */
export class AnsweringThread<Request, Reply> {
  private readonly worker: Worker;
  private readonly asked: {
    readonly resolve: (reply: Reply) => void;
    readonly reject: (why: Error) => void;
  }[] = [];
  private dead: Error | null = null;

  constructor(script: URL, options: WorkerOptions) {
    this.worker = new Worker(script, options);
    const end = (why: Error) => {
      this.dead ??= why;
      for (const { reject } of this.asked.splice(0)) reject(this.dead);
    };
    this.worker.on('message', (answer: Answer<Reply>) => {
      const asked = this.asked.shift();
      if ('reply' in answer) asked?.resolve(answer.reply);
      else asked?.reject(errorFrom(answer.failure));
    });
    this.worker.on('error', end);
    this.worker.on('exit', (code) => end(gone(code)));
  }

  /** Requests that have no answer yet. */
  get waiting(): number {
    return this.asked.length;
  }

  /** Rejects with what the thread threw, or if the thread has ended. */
  ask(request: Request): Promise<Reply> {
    if (this.dead !== null) return Promise.reject(this.dead);
    const reply = new Promise<Reply>((resolve, reject) => {
      this.asked.push({ resolve, reject });
    });
    // The caller gets the rejection if it still waits; if nobody does, it must not count as unhandled.
    reply.catch(() => {});
    this.worker.postMessage(request);
    return reply;
  }

  /** Ends the thread, whatever it is doing. */
  async end(): Promise<void> {
    await this.worker.terminate();
  }
}

/** The thread's half of `AnsweringThread`. */
export function answerAll<Request, Reply>(
  answer: (request: Request) => Reply | Promise<Reply>,
): void {
  const post = (message: Answer<Reply>) => parentPort?.postMessage(message);
  parentPort?.on('message', async (request: Request) => {
    try {
      post({ reply: await answer(request) });
    } catch (error) {
      post({ failure: failureOf(error) });
    }
  });
}

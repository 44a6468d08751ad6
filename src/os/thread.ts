/**
 * Threads that send messages. Two kinds have both halves here: one does a task, the other answers requests. Others open a thread
 * and hear its messages as they are.
 */
import {
  parentPort,
  type Transferable,
  Worker,
  type WorkerOptions,
  workerData,
} from 'node:worker_threads';

/** An error on its way between threads: structured cloning would lose its name and fields. */
type Failure = Readonly<Record<string, unknown>>;

interface Failed {
  readonly failure: Failure;
}

/** From a thread that does a task. */
export type TaskMessage<Said, Result> = { readonly said: Said } | { readonly result: Result };

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

/**
 * `threw`: what it was asked to do failed, and the thread may live on; `crashed`: any other error ended it; `gone`: it has ended,
 * which every thread tells last.
 */
export type Fault = 'threw' | 'crashed' | 'gone';

interface Ears<Message> {
  /** Gets the thread's messages. */
  readonly hear: (message: Message) => void;
  /** Gets what was thrown in it (name, stack, plain fields), and lastly its end. */
  readonly fail: (why: Error, fault: Fault) => void;
}

function listen<Message extends object>(worker: Worker, { hear, fail }: Ears<Message>): Worker {
  worker.on('message', (message: Message | Failed) => {
    if ('failure' in message) fail(errorFrom(message.failure), 'threw');
    else hear(message);
  });
  worker.on('error', (error) => fail(error, 'crashed'));
  worker.on('exit', (code) => fail(new Error(`its thread ended with code ${code}`), 'gone'));
  return worker;
}

/** Starts a thread whose messages are heard as they are. */
export const openThread = <Message extends object>(
  script: URL,
  options: WorkerOptions,
  ears: Ears<Message>,
): Worker => listen(new Worker(script, options), ears);

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
  const done = new Promise<Result>((resolve, fail) => {
    const take = (message: TaskMessage<Said, Result>) => {
      if ('said' in message) hear(message.said);
      else resolve(message.result);
    };
    listen(worker, { hear: take, fail });
  });
  // The caller gets the rejection when it awaits; until then it must not count as unhandled.
  done.catch(() => {});
  return { worker, done };
}

/** Tells what the thread's task says; what is in `transfer` it has no more. */
export type Say<Said> = (said: Said, transfer?: readonly Transferable[]) => void;

/** The thread's half of `startThread`. */
export async function doTask<Task, Said, Result>(
  work: (task: Task, say: Say<Said>) => Result | Promise<Result>,
): Promise<void> {
  const post = (message: TaskMessage<Said, Result> | Failed, transfer?: readonly Transferable[]) =>
    parentPort?.postMessage(message, transfer);
  try {
    const say: Say<Said> = (said, transfer) => post({ said }, transfer);
    post({ result: await work(workerData as Task, say) });
  } catch (error) {
    post({ failure: failureOf(error) });
  }
}

interface Answer<Reply> {
  readonly reply: Reply;
}

/** A thread that answers requests one after the other: its script calls `answerAll`. */
export class AnsweringThread<Request, Reply> {
  private readonly worker: Worker;
  private readonly asked: {
    readonly resolve: (reply: Reply) => void;
    readonly reject: (why: Error) => void;
  }[] = [];
  private dead: Error | null = null;

  constructor(script: URL, options: WorkerOptions) {
    this.worker = openThread<Answer<Reply>>(script, options, {
      hear: ({ reply }) => this.asked.shift()?.resolve(reply),
      fail: (why, fault) => {
        if (fault === 'threw') {
          this.asked.shift()?.reject(why);
          return;
        }
        this.dead ??= why;
        for (const { reject } of this.asked.splice(0)) reject(this.dead);
      },
    });
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
  const post = (message: Answer<Reply> | Failed) => parentPort?.postMessage(message);
  parentPort?.on('message', async (request: Request) => {
    try {
      post({ reply: await answer(request) });
    } catch (error) {
      post({ failure: failureOf(error) });
    }
  });
}

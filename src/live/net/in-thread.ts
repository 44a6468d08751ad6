/** The half of a server's thread that runs in it: starts, takes messages, and ends when it is told to. */
import { parentPort, workerData } from 'node:worker_threads';
import { exitCodeOf } from '../../model/error.ts';
import { type FromThread, Shared, type ThreadTask, type ToThread } from './thread.ts';

export interface Running<Message> {
  readonly url: string;
  readonly port: number;
  take(message: Message): void;
  close(): Promise<void>;
}

/** Runs the server that `start` makes of the thread's task. */
export async function runInThread<Message, Task>(
  start: (task: Task, shared: Shared) => Promise<Running<Message>>,
): Promise<void> {
  const { task, shared: memory } = workerData as ThreadTask<Task>;
  const shared = new Shared(memory);
  const say = (said: FromThread) => parentPort?.postMessage(said);
  try {
    const server = await start(task, shared);
    parentPort?.on('message', (said: ToThread<Message>) => {
      if (said.kind === 'close') {
        void server.close().finally(() => parentPort?.close());
        return;
      }
      server.take(said.message);
      shared.took(said.bytes);
    });
    say({ kind: 'listening', url: server.url, port: server.port });
  } catch (error) {
    const { name, message } = error as Error;
    say({ kind: 'failed', name, message, exitCode: exitCodeOf(error) });
  }
}

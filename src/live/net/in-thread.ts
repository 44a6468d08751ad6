/** The half of a server's thread that runs in it: starts, takes messages, and ends when it is told to. */
import { parentPort } from 'node:worker_threads';
import { doTask } from '../../os/thread.ts';
import { type ServedAt, Shared, type ThreadTask, type ToThread } from './thread.ts';

export interface Running<Message> extends ServedAt {
  take(message: Message): void;
  close(): Promise<void>;
}

/** Runs the server that `start` makes of the thread's task. */
export const runInThread = <Message, Task>(
  start: (task: Task, shared: Shared) => Promise<Running<Message>>,
): Promise<void> =>
  doTask(async ({ task, shared: memory }: ThreadTask<Task>): Promise<ServedAt> => {
    const shared = new Shared(memory);
    const server = await start(task, shared);
    parentPort?.on('message', (said: ToThread<Message>) => {
      if (said.kind === 'close') {
        void server.close().finally(() => parentPort?.close());
        return;
      }
      server.take(said.message);
      shared.took(said.bytes);
    });
    return { url: server.url, port: server.port };
  });

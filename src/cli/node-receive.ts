/** `triscope node archive --server`: what daemons publish, into an archive, until it is told to stop. */
import { join } from 'node:path';
import type { BrokerOptions } from '../live/amqp/index.ts';
import { TriscopeError } from '../model/error.ts';
import { about, LogError, reasonOf } from '../node/log/error.ts';
import { PidFile } from '../node/log/pid-file.ts';
import { makeFolder } from '../os/folder.ts';
import { Arrivals } from './arrivals.ts';
import { say } from './node-log-options.ts';

/** Errors of a failing disk are reported with the archive's name. @throws LogError, BrokerError */
async function filing<T>(folder: string, done: Promise<T>): Promise<T> {
  try {
    return await done;
  } catch (error) {
    if (error instanceof TriscopeError) throw error;
    throw new LogError(`${folder}: ${reasonOf(error)}`, { cause: error });
  }
}

/** Returns the exit code. @throws LogError where another service writes this archive; BrokerError */
export async function receive(broker: BrokerOptions, folder: string): Promise<number> {
  const { AmqpConsumer, ArchiveWriter } = await import('../live/amqp/index.ts');
  about(folder, () => makeFolder(folder));
  const lock = new PidFile(join(folder, '.service.pid'));
  try {
    const arrivals = new Arrivals(folder, say);
    const archive = about(folder, () => new ArchiveWriter(folder, (path) => arrivals.add(path)));
    const consumer = new AmqpConsumer({ ...broker, archive, say });
    const stop = () => consumer.stop();
    process.on('SIGINT', stop).on('SIGTERM', stop).on('SIGHUP', stop);
    try {
      const { appended, repeated, rejected } = await filing(folder, consumer.run());
      say(`${appended} samples filed, ${repeated} came again, ${rejected} rejected`);
      return 0;
    } finally {
      process.off('SIGINT', stop).off('SIGTERM', stop).off('SIGHUP', stop);
      archive.close();
      await arrivals.close();
    }
  } finally {
    lock.close();
  }
}

export { ArchiveWriter } from './archive.ts';
export { BrokerError, type BrokerOptions } from './connection.ts';
export { AmqpConsumer } from './consumer.ts';
export { RejectedMessageError } from './message.ts';
export { AmqpPublisher } from './publisher.ts';
export { SpoolError } from './spool.ts';

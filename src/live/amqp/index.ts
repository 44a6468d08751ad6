export { Archive } from './archive.ts';
export { BrokerError, type BrokerOptions } from './connection.ts';
export { AmqpConsumer, type ConsumerOptions, type ConsumerResult } from './consumer.ts';
export { RejectedMessageError } from './message.ts';
export { AmqpPublisher, type PublisherOptions } from './publisher.ts';
export { SpoolError } from './spool.ts';

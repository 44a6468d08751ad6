/** The routes as an OpenAPI 3.1 document. */
import type { Parameter, Route } from './route.ts';

const RECORDING: Parameter = {
  name: 'recording',
  help: 'one of /api/recordings; the first where it is not given',
  schema: { type: 'string' },
};

const wrong = (description: string) => ({
  description,
  content: {
    'application/json': {
      schema: {
        type: 'object',
        properties: { error: { type: 'string', description: 'one line' } },
        required: ['error'],
      },
    },
  },
});

type Described = Pick<Route, 'summary' | 'parameters' | 'body' | 'gives' | 'types'>;

function operation({
  summary,
  parameters = [],
  body,
  gives,
  types = ['application/json'],
}: Described) {
  return {
    summary,
    parameters: [RECORDING, ...parameters].map(({ name, help, schema, required }) => ({
      name,
      in: 'query',
      description: help,
      required: required ?? false,
      schema,
    })),
    ...(body !== undefined && {
      requestBody: { required: true, content: { 'application/json': { schema: body } } },
    }),
    responses: {
      200: {
        description: gives,
        content: Object.fromEntries(types.map((type) => [type, {}])),
      },
      400: wrong('what is asked for is not there, or asked for in a wrong way'),
      404: wrong('no such recording'),
      410: wrong('the recording was removed while it was being shown'),
      401: wrong('the token is missing, or another'),
      413: wrong('more is asked for than an answer may hold'),
      503: wrong('too much is asked for at once, or it took too long: try again'),
    },
  };
}

/** Of the API, not of the package: grows when a program that uses it would go wrong. */
const API_VERSION = '1.0.0';

/** What is not below /api, and the document itself. */
const OTHERS: Readonly<Record<string, ReturnType<typeof plain>>> = {
  '/api/openapi.json': plain('This document', 'OpenAPI 3.1', ['application/json']),
  '/metrics': plain('OpenMetrics of the server and its recordings', 'text', [
    'application/openmetrics-text',
  ]),
  '/live': plain(
    'A WebSocket: facts as JSON text; frames as binary messages, each after u32 number of its stream and u32 frames left out before it',
    'the upgrade; `without`: tables whose samples are not wanted, separated by commas',
    [],
  ),
  '/live/events': plain(
    'The same as server-sent events: `facts`, and `frame` in base64',
    'a stream that ends with the connection',
    ['text/event-stream'],
  ),
};

function plain(summary: string, gives: string, types: readonly string[]) {
  return { get: operation({ summary, gives, types }) };
}

export function openApi(routes: readonly Route[]) {
  const paths: Record<string, Record<string, unknown>> = { ...OTHERS };
  for (const route of routes) {
    paths[`/api${route.path}`] = {
      ...paths[`/api${route.path}`],
      [route.method]: operation(route),
    };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Triscope',
      version: API_VERSION,
      description:
        'What a dashboard’s server tells of its recordings. Nothing can be changed through it.',
    },
    paths,
    components: {
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          description: 'the one in the link that the server prints',
        },
      },
    },
    security: [{ token: [] }],
  };
}

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

function operation({ summary, parameters = [], body, gives, types = ['application/json'] }: Route) {
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
      410: wrong('the recording was removed while it was shown'),
      503: wrong('too much is asked for at once: try again'),
    },
  };
}

/** Of the API, not of the package: grows when a program that uses it would go wrong. */
const API_VERSION = '1.0.0';

export function openApi(routes: readonly Route[]) {
  const paths: Record<string, Record<string, unknown>> = {};
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
          description: 'where the server listens beyond loopback',
        },
      },
    },
    security: [{}, { token: [] }],
  };
}

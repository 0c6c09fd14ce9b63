/** The secret in most of the texts below. */
const SECRET = 'hunter2-value'
const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJl'
const PEM = '-----BEGIN RSA PRIVATE KEY-----\nMIIEow/+==\n-----END RSA PRIVATE KEY-----'

/** Texts with a secret that is recognized by its name or its form. */
export const SECRET_TEXTS: [title: string, text: string][] = [
  ['a field', `{"password":"${SECRET}"}`],
  ['an array', `{"password":["${SECRET}","${SECRET}"]}`],
  ['a list of device tokens', `{"deviceTokens": [ "${SECRET}" ]}`],
  ['an object', `{"auth":{"user":"${SECRET}","more":[{"pass":"${SECRET}"}]}}`],
  ['an escaped name', `{"pass\\u0077ord":"${SECRET}"}`],
  ['a name without a closing quote after it', `{"token":"${SECRET}`],
  ['a name with a space', `{"access token" : "${SECRET}"}`],
  ['a number', '{"token":918273645}'],
  ['a negative number in an array', '{"secret":[-918273645]}'],
  ['JSON in a string', JSON.stringify({ text: `{"token":"${SECRET}"}` })],
  ['JSON in a string of JSON', JSON.stringify([JSON.stringify([`{"token":"${SECRET}"}`])])],
  ['a header of an HAR file', `[{"name":"Authorization","value":"${SECRET}"}]`],
  ['an object printed by Node', `expected { apiKey: '${SECRET}', a: 1 }`],
  ['a parameter', `/v1/messages?sig=${SECRET}&page=1`],
  ['a parameter with an encoded name', `/v1/messages?tok%65n=${SECRET}`],
  ['a parameter of an object', `user[password]=${SECRET}`],
  ['a form', `name=ada&x-vercel-protection-bypass=${SECRET}`],
  ['a cookie', `theme=dark; access_token=${SECRET}`],
  ['a connection string', `Server=db;Pwd=${SECRET};Port=1`],
  ['an attribute', `<smtp password="${SECRET}">`],
  ['a user in a URL', `postgres://ada:${SECRET}@db/shop`],
  ['a token as the user of a URL', `{"url":"https://${SECRET}@example.com/"}`],
  ['a bearer token', `failed with Bearer ${SECRET}`],
  ['a JSON Web Token', `the value is ${JWT}.`],
  ['a JSON Web Token in a path', `/reset/${JWT}/confirm`],
  ['a private key', `key:\n${PEM}\n`],
  ['a private key in JSON', JSON.stringify({ pem: PEM })],
  ['a URL in JSON with an escaped ampersand', `{"u":"https://a/?a=1\\u0026token=${SECRET}"}`],
  ['a parameter after a colon', `failed:token=${SECRET}`],
  ['an argument of a command', `curl --data token=${SECRET} -u=a`],
  ['a header in a text', `sent\r\nX-Api-Key: ${SECRET}\r\n`],
  ['a field in YAML', `mail:\n  - password: "${SECRET}"`],
  ['a header of a curl command', `curl -H 'X-Api-Key: ${SECRET}' https://example.com`]
]

/** Matches a part of each secret in these texts. */
export const SECRET_PART = /hunter2|918273645|eyJhb|MIIEow/

# Both stages must be the same Debian and the same Node major: the database addon is made in the first and loaded in the
# second.
FROM node:24-bookworm AS build
WORKDIR /app

# First what changes seldom, so that an edit in src/ does not install again. The addon comes prebuilt; where that can't be
# fetched, this full image compiles it. (Against the headers of Node 24.19 and later, better-sqlite3 12 then aborts.)
COPY package.json package-lock.json .npmrc ./
RUN --mount=type=cache,target=/root/.npm npm ci --no-audit --no-fund

COPY tsconfig.json ./
COPY scripts ./scripts
COPY migrations ./migrations
COPY seeds ./seeds
COPY src ./src
RUN npm run build

FROM node:24-bookworm-slim
ENV NODE_ENV=production \
    NOTIFICATION_MOCK_HOST=0.0.0.0 \
    NOTIFICATION_MOCK_DATA=/data/notification-mock.db
WORKDIR /app

# No VOLUME: it would leave an anonymous volume behind every `docker run`, and in CI a container should start empty.
# Mount something on /data to keep the data.
RUN mkdir /data && chown node:node /data

COPY LICENSE package.json ./
COPY migrations ./migrations
COPY seeds ./seeds
# Of the installed packages only what is loaded: everything else is bundled.
COPY --from=build /app/node_modules/better-sqlite3/package.json ./node_modules/better-sqlite3/
COPY --from=build /app/node_modules/better-sqlite3/lib ./node_modules/better-sqlite3/lib
COPY --from=build /app/node_modules/better-sqlite3/build/Release/better_sqlite3.node ./node_modules/better-sqlite3/build/Release/
COPY --from=build /app/node_modules/bindings ./node_modules/bindings
COPY --from=build /app/node_modules/file-uri-to-path ./node_modules/file-uri-to-path
COPY --from=build /app/dist ./dist

USER node
EXPOSE 4210
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s --start-interval=500ms --retries=3 \
    CMD ["node", "dist/cli/index.js", "healthcheck"]
# Never npm in front: it would keep the signal that stops the server.
ENTRYPOINT ["node", "dist/cli/index.js"]
CMD ["serve"]

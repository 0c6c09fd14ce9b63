# Both stages must be the same Debian and the same Node major: the database addon is made in the first and loaded in the
# second.
FROM node:24-bookworm AS build
WORKDIR /app

# First what changes seldom, so that an edit in src/ does not install again. The full image has a compiler, for when no
# prebuilt database addon can be fetched.
COPY package.json package-lock.json .npmrc ./
RUN --mount=type=cache,target=/root/.npm npm ci --no-audit --no-fund

COPY tsconfig.json tsconfig.build.json ./
COPY scripts ./scripts
COPY migrations ./migrations
COPY seeds ./seeds
COPY src ./src
# Builds, and starts it once: what V8 has compiled then goes into the image too.
RUN npm run build
RUN npm prune --omit=dev --no-audit --no-fund

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
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist

USER node
EXPOSE 4210
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s --start-interval=500ms --retries=3 \
    CMD ["node", "dist/cli/index.cjs", "healthcheck"]
# Never npm in front: it would keep the signal that stops the server.
ENTRYPOINT ["node", "dist/cli/index.cjs"]
CMD ["serve"]

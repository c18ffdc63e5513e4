#include "sluicectl/server/installation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ADDRESS_MAX = 64 };

static const char RUN_URL[] = "http://127.0.0.1:8080";

static const char SYSTEM_FOLDER[] = "/etc/sluice";
static const char SYSTEM_KEY[] = "/etc/sluice/secrets/operators/admin.key";
static const char SYSTEM_ADDRESS_FILE[] = "/etc/sluice/local-address";
static const char SYSTEM_ADDRESS[] = "127.0.0.1:280";
static const char NO_ADDRESS[] = "none";

static const char *run_key(const struct invocation *invocation)
{
    return arena_format(invocation->arena, "%s/secrets/admin.key", invocation->data);
}

bool installation_is_system(const struct invocation *invocation)
{
    return strcmp(invocation->data, DATA_USUAL) == 0 && access(run_key(invocation), F_OK) != 0 &&
           access(SYSTEM_FOLDER, F_OK) == 0;
}

/* Whether only root or this user could have put there what is at `path`, a link included. */
static bool is_ours(const char *path)
{
    struct stat about;

    return lstat(path, &about) == 0 && (about.st_uid == 0 || about.st_uid == geteuid()) &&
           (S_ISLNK(about.st_mode) || (about.st_mode & S_IWOTH) == 0);
}

const char *installation_refusal(const struct invocation *invocation, const char *file)
{
    if (strcmp(invocation->data, DATA_USUAL) != 0 || !str_starts(str_of(file), STR(DATA_USUAL)) ||
        access(file, F_OK) != 0) {
        return NULL;
    }
    /* Each folder on the way, then the file. */
    for (const char *end = file + strlen(DATA_USUAL); end != NULL;) {
        const char *path = arena_copy(invocation->arena, str_sized(file, (size_t)(end - file)));
        if (!is_ours(path)) {
            return arena_format(invocation->arena,
                                "%s belongs to another user, or others may write there", path);
        }
        end = *end == '\0' ? NULL : strchrnul(end + 1, '/');
    }
    return NULL;
}

const char *installation_key_file(const struct invocation *invocation, const char **refusal)
{
    const char *named = getenv("SLUICE_ADMIN_KEY_FILE");

    *refusal = NULL;
    if (named != NULL && named[0] != '\0') {
        return named;
    }
    if (installation_is_system(invocation)) {
        return SYSTEM_KEY;
    }
    const char *key = run_key(invocation);
    *refusal = installation_refusal(invocation, key);
    return key;
}

const char *installation_url(const struct invocation *invocation)
{
    char line[ADDRESS_MAX] = "";

    if (!installation_is_system(invocation)) {
        return RUN_URL;
    }
    FILE *file = fopen(SYSTEM_ADDRESS_FILE, "re");
    if (file != NULL) {
        bool is_there = fgets(line, sizeof(line), file) != NULL;
        (void)fclose(file);
        line[is_there ? strcspn(line, " \t\r\n") : 0] = '\0';
    }
    if (strcmp(line, NO_ADDRESS) == 0) {
        return "";
    }
    return arena_format(invocation->arena, "http://%s", line[0] != '\0' ? line : SYSTEM_ADDRESS);
}

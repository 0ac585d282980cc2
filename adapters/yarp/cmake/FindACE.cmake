# Finds the ACE in YARP's wheel, because the system's ACE may have another version.
file(GLOB ACE_LIBRARY ${MIDDLEMARK_YARP_WHEEL}/yarp_middleware.libs/libACE*.so)
if(ACE_LIBRARY AND NOT TARGET ACE::ACE)
  add_library(ACE::ACE SHARED IMPORTED)
  set_target_properties(ACE::ACE PROPERTIES IMPORTED_LOCATION ${ACE_LIBRARY})
  set(ACE_FOUND TRUE)
endif()
